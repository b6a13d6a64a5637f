// Tolerations: whether a pod tolerates a taint.
import type { Toleration } from '../scheduling/affinity.ts'
import type { Taint } from './node.ts'

type TaintIdentity = Pick<Taint, 'key' | 'effect' | 'value'>

export const tolerates = (tolerations: readonly Toleration[], taint: TaintIdentity): boolean =>
  tolerations.some(({ key, operator = 'Equal', value = '', effect }) => {
    if (effect !== undefined && effect !== taint.effect) return false
    if (key !== undefined && key !== taint.key) return false
    return operator === 'Exists' || (key !== undefined && value === (taint.value ?? ''))
  })

/** The first taint with one of the effects that is not tolerated. */
export const untoleratedTaint = <T extends TaintIdentity>(
  taints: readonly T[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): T | undefined => taints.find((taint) => effects.includes(taint.effect) && !tolerates(tolerations, taint))
