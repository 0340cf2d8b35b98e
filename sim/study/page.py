def of_study(study):
    return ""
