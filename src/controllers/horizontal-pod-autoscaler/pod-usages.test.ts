import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { parseLabelSelector } from '../../api/selectors/label-selector-text.ts'
import { isListShared, PodUsages, type PodUsage } from './pod-usages.ts'

const ctx = context(new AbortController().signal)
const usage = (name: string, app?: string): PodUsage => ({
  metadata: { name, ...(app === undefined ? {} : { labels: { app } }) },
  timestamp: '2030-01-01T00:00:00Z',
  window: '10s',
  containers: [],
})

/** Reads for several selectors, and returns the names that were found and the selectors that were listed. */
async function read(answers: () => Promise<readonly PodUsage[]>, times: readonly number[], isShared = true) {
  const listed: string[] = []
  const usages = new PodUsages((namespace, selector) => {
    listed.push(`${namespace}:${selector}`)
    return answers()
  })
  const found: string[][] = []
  for (const [index, nowMs] of times.entries()) {
    const podSelector = index % 2 === 0 ? 'app=a' : 'app=b'
    const selector = parseLabelSelector(podSelector)
    const items = await usages.read({ namespace: 'n', selector, podSelector, isShared, nowMs }, ctx)
    found.push(items.map(({ metadata }) => metadata.name))
  }
  return { listed, found }
}

test('autoscalers that are evaluated within a second share one list', async () => {
  const answers = () => Promise.resolve([usage('1', 'a'), usage('2', 'b'), usage('3', 'b')])
  const { listed, found } = await read(answers, [0, 999, 1_000])
  deepEqual(listed, ['n:', 'n:'])
  deepEqual(found, [['1'], ['2', '3'], ['1']])
})

test('a single autoscaler lists its own pods', async () => {
  const { listed } = await read(() => Promise.resolve([usage('1', 'a')]), [0, 0], false)
  deepEqual(listed, ['n:app=a', 'n:app=b'])
})

test('where the server reports no labels, each autoscaler lists its own pods', async () => {
  const { listed } = await read(() => Promise.resolve([usage('1')]), [0, 0])
  deepEqual(listed, ['n:', 'n:app=a', 'n:app=b'])
})

test('an empty list is shared too', async () => {
  const { listed } = await read(() => Promise.resolve([]), [0, 0])
  deepEqual(listed, ['n:'])
})

test('a failure of the list is a failure for all that share it', async () => {
  await rejects(
    read(() => Promise.reject(new Error('no metrics')), [0]),
    /no metrics/,
  )
})

const sizes: [autoscalers: number, pods: number, expected: boolean][] = [
  [1, 1, false],
  [2, 100, true],
  [2, 101, false],
]
for (const [autoscalers, pods, expected] of sizes)
  test(`${autoscalers} autoscalers and ${pods} pods ${expected ? 'share' : 'do not share'} a list`, () =>
    equal(isListShared({ autoscalers, pods }), expected))
