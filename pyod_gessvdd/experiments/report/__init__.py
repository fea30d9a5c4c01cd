"""What a run says: tables, pictures and pages."""
