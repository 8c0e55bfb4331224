"""Measures of the catalogue in the dialects of recommendation, by tool.

Each tuple belongs to the dialect of that name. The lists, the catalogue and what users saw are
given to the tool as they are given to germane; where a tool counts more items in its catalogue, its
dialect says so.
"""

from germane.dialects.dialect import Entry, name_both

RECOMMENDERS = (
    Entry("novelty@{k}", "Novelty(seen=interactions,unseen=zero,mean=micro)@{k}"),
    Entry("catalog_coverage@{k}", "Coverage(norm=seen)@{k}"),
    Entry("distributional_coverage@{k}", "Entropy@{k}"),
    Entry("diversity@{k}", "ILD(single=drop)@{k}"),
    Entry("serendipity@{k}", "Serendipity(against=history,relevant=all)@{k}"),
)

RECTOOLS = (
    Entry("CatalogCoverage(k={k},normalize=True)", "Coverage@{k}"),
    Entry("CatalogCoverage(k={k})", "Coverage(norm=none)@{k}"),
    Entry("MeanInvUserFreq(k={k})", "Novelty@{k}"),
    Entry("AvgRecPopularity(k={k})", "ARP(seen=interactions)@{k}"),
    Entry("AvgRecPopularity(k={k},normalize=True)", "ARP(seen=interactions,norm=total)@{k}"),
    Entry("IntraListDiversity(k={k})", "ILD@{k}"),
    Entry("Serendipity(k={k})", "Serendipity@{k}"),
)

RECBOLE = (
    Entry("GiniIndex@{k}", "Gini@{k}"),
    Entry("ShannonEntropy@{k}", "Entropy(base=e,norm=recommended)@{k}"),
    Entry("ItemCoverage@{k}", "Coverage@{k}"),
    Entry("AveragePopularity@{k}", "ARP(seen=interactions)@{k}"),
    Entry("TailPercentage@{k}", "TailShare(tail=0.1)@{k}"),
)

LENSKIT = (
    *name_both("ListGini", "Gini", "(n={k})"),
    *name_both("MeanPopRank", "ARP(norm=rank)", "(n={k})"),
)

EVIDENTLY = (
    Entry("novelty@{k}", "Novelty(unseen=drop)@{k}"),
    Entry("arp@{k}", "ARP(unseen=drop)@{k}"),
    Entry("arp_normalized@{k}", "ARP(norm=max,unseen=drop)@{k}"),
    Entry("gini@{k}", "Gini(over=recommended,norm=n-1)@{k}"),
    Entry("coverage@{k}", "Coverage(norm=seen,unseen=drop)@{k}"),
    Entry("personalization@{k}", "Personalization(norm=k)@{k}"),
    Entry("diversity@{k}", "ILD(norm=found)@{k}"),
)

ELLIOT = (
    Entry("Gini@{k}", "Gini(sign=equal,norm=n-1)@{k}"),
    Entry("SEntropy@{k}", "Entropy(lists=mean)@{k}"),
    Entry("ItemCoverage@{k}", "Coverage(norm=none)@{k}"),
    Entry("ARP@{k}", "ARP@{k}"),
)
