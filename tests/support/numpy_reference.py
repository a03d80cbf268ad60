"""Losses written a second time, pixel by pixel in NumPy, and their gradients by differences."""

import numpy as np


def log_softmax(column):
    shifted = column - column.max()
    return shifted - np.log(np.exp(shifted).sum())


def log_sum(column):
    return column.max() + np.log(np.exp(column - column.max()).sum())


def pixels(labels, keep):
    """Where `keep` holds for the label."""
    return [place for place in np.ndindex(*labels.shape) if keep(labels[place])]


def mean(values):
    return float(np.mean(values)) if values else 0.0


def not_void(label):
    return label != 255


def column(array, place):
    b, y, x = place
    return array[b, :, y, x]


def cross_entropy(q, labels):
    return mean(
        [-log_softmax(column(q, p))[labels[p]] for p in pixels(labels, not_void)],
    )


def unbiased_cross_entropy(q, labels, old):
    def at(place):
        values, label = column(q, place), labels[place]
        own = log_sum(values[:old]) if label == 0 else values[label]
        return log_sum(values) - own

    return mean([at(place) for place in pixels(labels, not_void)])


def soft_plus(value):
    return max(value, 0) + np.log1p(np.exp(-abs(value)))


def binary(value, target):
    return soft_plus(value) - target * value


def sigmoid(value):
    return float(np.exp(-soft_plus(-value)))


def classwise_cross_entropy(q, labels):
    def at(place):
        values = column(q, place)
        return sum(binary(value, float(c == labels[place])) for c, value in enumerate(values))

    return mean([at(place) for place in pixels(labels, not_void)])


def lwf_distillation(q, t, labels):
    def at(place):
        teacher = column(t, place)
        log_p = log_softmax(column(q, place)[: len(teacher)])
        return -(np.exp(log_softmax(teacher)) * log_p).sum() / len(teacher)

    return mean([at(place) for place in pixels(labels, not_void)])


def agreeing_cross_entropy(q, t, labels):
    def at(place):
        teacher, log_p = column(t, place), log_softmax(column(q, place))
        if labels[place] != teacher.argmax():
            return -log_p[labels[place]]
        return -(np.exp(log_softmax(teacher)) * log_p[: len(teacher)]).sum()

    return mean([at(place) for place in pixels(labels, not_void)])


def classwise_distillation(q, t, labels):
    def at(place):
        pairs = zip(column(q, place), column(t, place), strict=False)
        return np.mean([binary(student, sigmoid(teacher)) for student, teacher in pairs])

    return mean([at(place) for place in pixels(labels, not_void)])


def entropy_weighted_distillation(q, t, labels, weight):
    def at(place):
        log_t = log_softmax(column(t, place))
        entropy = -sum(np.exp(v) * v for v in log_t) / np.log(2)
        log_p = log_softmax(column(q, place))[: len(log_t)]
        return -(1 + weight * entropy) * (np.exp(log_t) * log_p).sum()

    return mean([at(place) for place in pixels(labels, lambda label: label == 0)])


def unbiased_distillation(q, t, labels):
    def at(place):
        student, teacher = column(q, place), column(t, place)
        old = len(teacher)
        whole = log_sum(student)
        log_p = [log_sum(np.array([student[0], *student[old:]])) - whole]
        log_p += [student[c] - whole for c in range(1, old)]
        return -(np.exp(log_softmax(teacher)) * log_p).sum() / old

    return mean([at(place) for place in pixels(labels, not_void)])


def gradient(loss, array, step=1e-5):
    """dloss/darray by central differences."""
    result = np.zeros_like(array)
    for place in np.ndindex(*array.shape):
        up, down = array.copy(), array.copy()
        up[place] += step
        down[place] -= step
        result[place] = (loss(up) - loss(down)) / (2 * step)
    return result
