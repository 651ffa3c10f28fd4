"""Everything with people in it: campaign, plan, push, pull, consensus, agreement.

May import `pipeline` and `momentrank`; neither of them imports this package.
"""
