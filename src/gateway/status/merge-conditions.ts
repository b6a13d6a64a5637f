// Merges conditions into those of an object. Conditions of other controllers are kept. Pure.
import type { Condition } from '../../api/meta/v1/condition.ts'
import type { Outcome } from '../attachment/outcome.ts'

export interface WantedCondition {
  readonly type: string
  readonly outcome: Outcome
}

export interface Moment {
  readonly generation: Condition['observedGeneration']
  /** When conditions that have changed their status did so. */
  readonly time: string
}

/** Conditions of the types in `own` that are not wanted are removed. */
export function mergeConditions(
  before: readonly Condition[] = [],
  wanted: readonly WantedCondition[],
  { generation, time }: Moment,
  own: readonly string[] = [],
): readonly Condition[] {
  const fresh = wanted.map(({ type, outcome }): Condition => {
    const status = outcome.isMet ? 'True' : 'False'
    const known = before.find((each) => each.type === type)
    return {
      type,
      status,
      reason: outcome.reason,
      message: outcome.message,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime: known?.status === status ? known.lastTransitionTime : time,
    }
  })
  const types = new Set([...wanted.map(({ type }) => type), ...own])
  return [...fresh, ...before.filter(({ type }) => !types.has(type))]
}
