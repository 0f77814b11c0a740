"""Settings: the dialog, and making them so."""
