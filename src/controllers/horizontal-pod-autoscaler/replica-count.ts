// The number of replicas that brings a metric to its target. Pods without a usage are assumed to use as much as keeps the
// number of replicas from changing in the wrong direction.
import type { PodGroups } from './pod-groups.ts'

/** By how much a ratio of usage and target may differ from 1 without a change. */
export interface Tolerances {
  readonly up: number
  readonly down: number
}

export const isTolerated = (ratio: number, { up, down }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up

/** The usage of pods compared with its target. */
export interface UsageRatio {
  readonly ratio: number
  readonly averageMilli: bigint
  /** Percentage of the requests, if the target is one. */
  readonly utilization?: number
}

export type Usages = ReadonlyMap<string, bigint>
export type Compare = (usages: Usages) => UsageRatio | undefined

export interface PodMetric {
  readonly current: number
  readonly groups: PodGroups
  readonly tolerances: Tolerances
  /** Undefined when no usage can be compared. */
  readonly compare: Compare
  /** What a pod without a usage is assumed to use when the replicas would be reduced. */
  readonly assumedMilli: (pod: string) => bigint
}

export type ReplicaProposal = UsageRatio & { readonly replicas: number }

/** Undefined when no usage can be compared with the target. */
export function replicasForPods({ current, groups, tolerances, compare, assumedMilli }: PodMetric) {
  const usages = new Map<string, bigint>()
  for (const [pod, { milli }] of groups.samples) usages.set(pod, milli)
  const measured = compare(usages)
  if (measured === undefined) return undefined
  const { ratio } = measured
  const proposal = (replicas: number): ReplicaProposal => ({ ...measured, replicas })
  const hasUnready = groups.unready.length > 0 && ratio > 1
  if (!hasUnready && groups.missing.length === 0)
    return proposal(isTolerated(ratio, tolerances) ? current : Math.ceil(ratio * groups.readyCount))
  if (ratio < 1) for (const pod of groups.missing) usages.set(pod, assumedMilli(pod))
  if (ratio > 1) for (const pod of groups.missing) usages.set(pod, 0n)
  if (hasUnready) for (const pod of groups.unready) usages.set(pod, 0n)
  const assumed = compare(usages)
  if (assumed === undefined) return undefined
  const replicas = Math.ceil(assumed.ratio * usages.size)
  const isReversed = (ratio < 1 && assumed.ratio > 1) || (ratio > 1 && assumed.ratio < 1)
  const isOpposite = (assumed.ratio < 1 && replicas > current) || (assumed.ratio > 1 && replicas < current)
  return proposal(isTolerated(assumed.ratio, tolerances) || isReversed || isOpposite ? current : replicas)
}

/** Compares the average with a target amount. */
export const compareAverage =
  (targetMilli: bigint): Compare =>
  (usages) => {
    const averageMilli = sum(usages.values()) / BigInt(usages.size)
    return { ratio: Number(averageMilli) / Number(targetMilli), averageMilli }
  }

/** Compares the usage with a percentage of the requests. */
export const compareUtilization =
  (requests: Usages, targetPercent: number): Compare =>
  (usages) => {
    let used = 0n
    let requested = 0n
    let count = 0n
    for (const [pod, milli] of usages) {
      const request = requests.get(pod)
      if (request === undefined) continue
      used += milli
      requested += request
      count++
    }
    if (requested === 0n) return undefined
    const utilization = Number((used * 100n) / requested)
    return { ratio: utilization / targetPercent, utilization, averageMilli: used / count }
  }

/** For a value of the target as a whole: the ready pods handle it together. */
export const replicasForValue = (current: number, ratio: number, readyCount: number, tolerances: Tolerances): number =>
  isTolerated(ratio, tolerances) ? current : Math.ceil(ratio * readyCount)

/** For a value that is divided by the number of replicas. */
export function replicasForShare(
  milli: bigint,
  targetMilli: bigint,
  statusReplicas: number,
  tolerances: Tolerances,
): ReplicaProposal {
  const value = Number(milli)
  const target = Number(targetMilli)
  const ratio = value / (target * statusReplicas)
  const replicas = isTolerated(ratio, tolerances) ? statusReplicas : Math.ceil(value / target)
  const averageMilli = statusReplicas === 0 ? averageOfNone(milli) : BigInt(Math.ceil(value / statusReplicas))
  return { ratio, replicas, averageMilli }
}

/** Upstream divides by zero, which its status shows as the largest amount. */
const averageOfNone = (milli: bigint): bigint => (milli === 0n ? 0n : (1n << 63n) - 1n)

export function sum(values: Iterable<bigint>): bigint {
  let total = 0n
  for (const value of values) total += value
  return total
}
