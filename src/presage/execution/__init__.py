"""One execution on live code: confirmed, replayed, shown, and tried again."""
