BEGIN TRANSACTION;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO "meta" VALUES('schema','1');
INSERT INTO "meta" VALUES('package_version','"0.1.0"');
INSERT INTO "meta" VALUES('quick','true');
INSERT INTO "meta" VALUES('seed','0');
INSERT INTO "meta" VALUES('scale','"minmax"');
INSERT INTO "meta" VALUES('created','"2026-11-17T21:48:32+00:00"');
INSERT INTO "meta" VALUES('versions','{"Python": "3.11.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "pyod": "3.6.7"}');
INSERT INTO "meta" VALUES('machine','"Linux x86_64, 2 cores"');
CREATE TABLE sensitivity (
    dataset TEXT, description TEXT, method TEXT, target TEXT, split INTEGER, parameter TEXT, value REAL, gmean REAL,
    PRIMARY KEY (dataset, description, method, target, split, parameter, value));
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_present',0,'C',0.1,5.77350269189625731058e-01);
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_present',0,'C',0.3,7.45355992499929898009e-01);
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_present',0,'C',0.6,0.769800358919501);
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_absent',0,'C',0.1,8.81917103688196868382e-01);
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_absent',0,'C',0.3,8.81917103688196868382e-01);
INSERT INTO "sensitivity" VALUES('heart','linear','ESVDD','disease_absent',0,'C',0.6,8.81917103688196868382e-01);
CREATE TABLE trials (
    dataset TEXT, description TEXT, method TEXT, target TEXT, split INTEGER, status TEXT,
    gmean REAL, tpr REAL, tnr REAL, fpr REAL, fnr REAL, cv_gmean REAL, parameters TEXT,
    n_fits INTEGER, n_infeasible INTEGER, n_unsolved INTEGER, n_train INTEGER, n_test INTEGER, seconds REAL,
    error TEXT, traceback TEXT, finished_at TEXT,
    PRIMARY KEY (dataset, description, method, target, split));
INSERT INTO "trials" VALUES('heart','linear','ESVDD','disease_present',0,'done',0.769800358919501,6.66666666666666629659e-01,8.88888888888888839545e-01,1.11111111111111160454e-01,3.3333333333333337034e-01,8.38693059335314794466e-01,'{"C": 0.6}',19,0,0,21,18,6.91016870005114469677e-02,NULL,NULL,'2026-11-17T21:48:32+00:00');
INSERT INTO "trials" VALUES('heart','linear','ESVDD','disease_absent',0,'done',8.81917103688196868382e-01,7.77777777777777790113e-01,1.0,0.0,2.22222222222222209886e-01,8.98500680470646351238e-01,'{"C": 0.6}',19,0,0,21,18,3.63968120000208728015e-02,NULL,NULL,'2026-11-17T21:48:32+00:00');
COMMIT;
