"""What is kept on disk, as bytes: sealed folders, arrays, tables. Complete or not there, and checked when read."""
