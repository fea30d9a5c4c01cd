"""Fitting on files and scoring them: tables in and out, features by name, models that know their features."""
