// Victim selection and candidate ranking: tables from upstream's documentation.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { podDisruptionBudget, type PodDisruptionBudget } from '../../api/policy/v1/pod-disruption-budget.ts'
import { filterNodes } from '../cycle/filtering.ts'
import { Nominator } from '../framework/nominator.ts'
import { schedulerPlugins } from '../plugins.ts'
import { bestCandidate, candidate, victimsOn, type Candidate } from './preemption.ts'
import { profileOf } from '../framework/profile.ts'
import { aNode, aPod, cycleOf, made, snapshotOf } from '../scheduler.harness.ts'

const placed = (name: string, priority: number, cpu: string, started = '00', labels: object = {}): Pod => ({
  ...aPod(name, { priority }, { cpu }, { labels }),
  status: { startTime: `2030-01-01T00:00:${started}Z` },
})
const budget = (app: string, disruptionsAllowed: number): PodDisruptionBudget =>
  made(podDisruptionBudget, app, {
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
  })

function runOf(target: Pod, nodes: readonly Node[], pods: readonly (readonly [Pod, string])[]) {
  const snapshot = snapshotOf(nodes, pods)
  const found = filterNodes(cycleOf(target, snapshot), profileOf('s', schedulerPlugins), new Nominator(), 0)
  return { snapshot, run: found.run }
}

/** Names of the victims on node n, with one `!` per violated budget, or the rejection. */
function victims(target: Pod, pods: readonly Pod[], budgets: readonly PodDisruptionBudget[] = []): string {
  const { run, snapshot } = runOf(
    target,
    [aNode('n')],
    pods.map((pod) => [pod, 'n']),
  )
  const usedBefore = snapshot.resources.of('cpu').requested[0]
  const found = victimsOn(run, 0, budgets)
  equal(snapshot.resources.of('cpu').requested[0], usedBefore, 'the simulation restores the snapshot')
  if ('kind' in found) return found.reasons.join(', ')
  return found.victims.map(({ pod }) => pod.metadata.name).join(' ') + '!'.repeat(found.violations)
}

/** The node has 4 cpus. Each row differs from the result without its rule. */
const rows: readonly [why: string, cpu: string, pods: Pod[], budgets: PodDisruptionBudget[], victims: string][] = [
  ['no pod of lower priority', '3', [placed('a', 100, '4')], [], 'No preemption victims found for incoming pod'],
  ['too large without all of them', '3', [placed('a', 1, '1'), placed('b', 200, '3')], [], 'Insufficient cpu'],
  ['only as many as needed', '3', [placed('a', 1, '2'), placed('b', 1, '1'), placed('c', 1, '1')], [], 'a c'],
  ['all, when all are needed', '4', [placed('a', 1, '2'), placed('b', 1, '2')], [], 'a b'],
  ['lower priority first', '2', [placed('a', 5, '2'), placed('b', 1, '2')], [], 'b'],
  ['lower priority first, in any order of the pods', '2', [placed('a', 1, '2'), placed('b', 5, '2')], [], 'a'],
  ['later start first', '2', [placed('old', 1, '2', '10'), placed('young', 1, '2', '20')], [], 'young'],
  ['later start first, in any order', '2', [placed('young', 1, '2', '20'), placed('old', 1, '2', '10')], [], 'young'],
  [
    'a pod that does not fit in the remaining space, although it is older',
    '3',
    [placed('old', 1, '1', '10'), placed('young', 1, '1', '20'), placed('oldest', 1, '2', '05')],
    [],
    'oldest young',
  ],
  [
    'a budget protects a pod of lower priority',
    '2',
    [placed('covered', 1, '2', '20', { app: 'covered' }), placed('b', 5, '2')],
    [budget('covered', 0)],
    'b',
  ],
  [
    'a budget that allows the disruption does not protect a pod',
    '2',
    [placed('covered', 1, '2', '20', { app: 'covered' }), placed('b', 5, '2')],
    [budget('covered', 1)],
    'covered',
  ],
  [
    'a budget that must be violated',
    '3',
    [placed('covered', 1, '4', '20', { app: 'covered' })],
    [budget('covered', 0)],
    'covered!',
  ],
  [
    'a budget for one of two disruptions',
    '4',
    [placed('a', 1, '2', '10', { app: 'covered' }), placed('b', 1, '2', '20', { app: 'covered' })],
    [budget('covered', 1)],
    'a b!',
  ],
]
for (const [why, cpu, pods, budgets, wanted] of rows)
  test(`victims: ${why}`, () => equal(victims(aPod('vip', { priority: 100 }, { cpu }), pods, budgets), wanted))

test('victims of anti-affinity and spread constraints', () => {
  const away = {
    priority: 100,
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    },
  }
  equal(victims(aPod('p', away), [placed('a', 1, '1', '00', { app: 'x' }), placed('b', 1, '1')]), 'a')
  const spread = {
    priority: 100,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'x' } },
      },
    ],
  }
  const target = aPod('p', spread, {}, { labels: { app: 'x' } })
  const full = [placed('a', 1, '1', '00', { app: 'x' }), placed('b', 1, '1', '01', { app: 'x' })]
  const blocked = aNode('m', { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  const { run } = runOf(
    target,
    [aNode('n'), blocked],
    full.map((pod) => [pod, 'n']),
  )
  const found = victimsOn(run, 0, [])
  deepEqual('victims' in found && found.victims.map(({ pod }) => pod.metadata.name), ['a', 'b'])
})

const candidateOf = (slot: number, violations: number, ...pods: Pod[]): Candidate => {
  const snapshot = snapshotOf([aNode('n')])
  return candidate(
    slot,
    pods.map((pod) => snapshot.place(pod, 'n')),
    violations,
  )
}
const choices: readonly [why: string, candidates: Candidate[], slot: number][] = [
  ['fewest violated budgets', [candidateOf(0, 1, placed('a', 1, '1')), candidateOf(1, 0, placed('b', 9, '1'))], 1],
  [
    'lowest highest priority',
    [candidateOf(0, 0, placed('a', 9, '1')), candidateOf(1, 0, placed('b', 2, '1'), placed('c', 1, '1'))],
    1,
  ],
  [
    'lowest sum of priorities',
    [
      candidateOf(0, 0, placed('a', 5, '1'), placed('b', 4, '1')),
      candidateOf(1, 0, placed('c', 5, '1'), placed('d', 1, '1')),
    ],
    1,
  ],
  [
    'lowest sum of priorities, where each victim counts',
    [candidateOf(0, 0, placed('a', 5, '1'), placed('b', -9, '1')), candidateOf(1, 0, placed('c', 5, '1'))],
    1,
  ],
  [
    'fewest victims, when the sums are equal',
    [candidateOf(0, 0, placed('a', 5, '1'), placed('b', -(2 ** 31), '1')), candidateOf(1, 0, placed('c', 5, '1'))],
    1,
  ],
  ['latest start', [candidateOf(0, 0, placed('a', 5, '1', '10')), candidateOf(1, 0, placed('b', 5, '1', '20'))], 1],
  ['the first of equals', [candidateOf(0, 0, placed('a', 5, '1')), candidateOf(1, 0, placed('b', 5, '1'))], 0],
]
for (const [why, candidates, slot] of choices)
  test(`the best candidate: ${why}`, () => equal(bestCandidate(candidates)?.slot, slot))
