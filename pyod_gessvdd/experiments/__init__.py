"""The experiment engine behind ``compare``, ``bench`` and ``demo``, one noun per file or folder.

data → detectors → protocols → run (jobs, sandbox, supervisor, resume) → store → statistics → report
"""
