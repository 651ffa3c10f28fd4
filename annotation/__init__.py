"""Everything that involves people: campaign, plan, push, pull, consensus, agreement.

It may import `pipeline` and `momentrank`; neither of them imports it.
"""
