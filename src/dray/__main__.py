"""`python -m dray` is the command `dray`."""

from dray.cli.main import main

if __name__ == "__main__":
    main()
