"""What the jobs say together: means, ranks, wins, and which differences are more than chance."""
