"""Print orders, units and revenue of each monthly file, and the total of each region."""

import csv
import sys
from collections import defaultdict
from pathlib import Path


def totals(path):
    """Number of orders, units, revenue and revenue by region of one file."""
    orders = units = 0
    revenue = 0.0
    regions = defaultdict(float)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            orders += 1
            units += int(row["units"])
            revenue += float(row["amount"])
            regions[row["region"]] += float(row["amount"])
    return orders, units, revenue, dict(regions)


def main(folder):
    for path in sorted(Path(folder).glob("*.csv")):
        orders, units, revenue, regions = totals(path)
        print(f"{path.stem}: {orders} orders, {units} units, {revenue:,.2f} euro")
        for region, amount in sorted(regions.items()):
            print(f"  {region:<6} {amount:>14,.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "sales")
