// Nothing: the headers that most tests read are compiled for the target that has this source.
