import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { causeOf, type FlowId } from '../observability/flow-recorder.ts'
import { seededRandom } from '../random/random.ts'
import { VirtualClock } from '../time/virtual-clock.ts'
import { backoffMs, controllerBackoff, WorkQueue } from './work-queue.ts'

const { signal } = new AbortController()

async function keyOf(queue: WorkQueue<string>): Promise<string | undefined> {
  return (await queue.take(signal))?.key
}

test('keys are returned once, in order of arrival', async () => {
  const queue = new WorkQueue<string>(new VirtualClock())
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
  equal(queue.depth, 3)
  deepEqual([await keyOf(queue), await keyOf(queue), await keyOf(queue)], ['a', 'b', 'c'])
})

test('a change during the work requeues the key after done, not before', async () => {
  const queue = new WorkQueue<string>(new VirtualClock())
  queue.add('a')
  await queue.take(signal)
  queue.add('a')
  equal(queue.depth, 0)
  queue.done('a')
  equal(queue.depth, 1)
  equal(await keyOf(queue), 'a')
  queue.done('a')
  equal(queue.idle, true)
})

test('changes that the worker causes itself do not requeue the key, unless they have another cause', async () => {
  const queue = new WorkQueue<string>(new VirtualClock())
  queue.add('a')
  queue.acknowledge('a')
  equal(queue.depth, 1, 'no worker has taken it yet')
  await queue.take(signal)
  queue.add('a')
  queue.acknowledge('a')
  queue.done('a')
  equal(queue.depth, 0)
  queue.add('a')
  await queue.take(signal)
  queue.add('a', causeOf(1 as FlowId, 10))
  queue.acknowledge('a')
  queue.done('a')
  equal(queue.depth, 1)
})

test('the causes of every add reach the worker', async () => {
  const queue = new WorkQueue<string>(new VirtualClock())
  queue.add('a', causeOf(1 as FlowId, 10))
  queue.add('a', causeOf(2 as FlowId, 11))
  const work = await queue.take(signal)
  deepEqual(work?.cause, { event: 2, also: [1], revisions: [11, 10] })
})

test('the earlier of two delays applies', async () => {
  const clock = new VirtualClock()
  const queue = new WorkQueue<string>(clock)
  queue.addAfter('a', 1000)
  queue.addAfter('a', 100)
  queue.addAfter('a', 500)
  await clock.advance(99)
  equal(queue.depth, 0)
  await clock.advance(1)
  equal(queue.depth, 1)
  equal(clock.pendingTimers, 0)
})

const askedTwice: [what: string, delaysMs: [number, number], cause: number][] = [
  ['for a later time: the later cause', [100, 500], 2],
  ['for the same time: the first cause', [100, 100], 1],
  ['for an earlier time: the cause of the earlier one', [500, 100], 2],
]
for (const [what, delaysMs, cause] of askedTwice)
  test(`the cause of a key that is requeued twice ${what}`, async () => {
    const clock = new VirtualClock()
    const queue = new WorkQueue<string>(clock)
    for (const [index, delayMs] of delaysMs.entries()) queue.addAfter('a', delayMs, causeOf((index + 1) as FlowId))
    await clock.advance(100)
    equal((await queue.take(signal))?.cause.event, cause)
  })

test('retries back off by doubling up to the limit until they are forgotten', async () => {
  const clock = new VirtualClock()
  const queue = new WorkQueue<string>(clock, { initialMs: 10, maxMs: 35 })
  const waits: number[] = []
  for (let i = 0; i < 4; i++) {
    const startMs = clock.nowMs()
    queue.retry('a')
    await clock.runUntilIdle()
    waits.push(clock.nowMs() - startMs)
    await queue.take(signal)
    queue.done('a')
  }
  deepEqual(waits, [10, 20, 35, 35])
  equal(queue.retries('a'), 4)
  queue.forget('a')
  equal(queue.retries('a'), 0)
  equal(backoffMs(controllerBackoff, 10_000), 1_000_000)
})

test('closing releases waiting workers and cancels timers', async () => {
  const clock = new VirtualClock()
  const queue = new WorkQueue<string>(clock)
  queue.addAfter('late', 1000)
  const waiting = queue.take(signal)
  queue.close()
  equal(await waiting, undefined)
  equal(clock.pendingTimers, 0)
  queue.add('after')
  equal(await queue.take(signal), undefined)
})

test('a worker that stops waiting does not lose a key', async () => {
  const queue = new WorkQueue<string>(new VirtualClock())
  const impatient = new AbortController()
  const gaveUp = queue.take(impatient.signal)
  const patient = keyOf(queue)
  impatient.abort()
  queue.add('a')
  equal(await gaveUp, undefined)
  equal(await patient, 'a')
})

test('done without take is a bug', () => {
  throws(() => new WorkQueue<string>(new VirtualClock()).done('a'), /no worker holds/)
})

test('under random adds no key is processed twice at once, and none is lost', async () => {
  const clock = new VirtualClock()
  const random = seededRandom(11)
  const queue = new WorkQueue<number>(clock)
  const versions = new Map<number, number>()
  const handled = new Map<number, number>()
  const inHand = new Set<number>()
  let overlaps = 0
  const worker = async () => {
    for (let work = await queue.take(signal); work !== undefined; work = await queue.take(signal)) {
      if (inHand.has(work.key)) overlaps++
      inHand.add(work.key)
      handled.set(work.key, versions.get(work.key) ?? 0)
      await clock.sleep(random.below(20), signal)
      inHand.delete(work.key)
      queue.done(work.key)
    }
  }
  const workers = [worker(), worker(), worker(), worker()]
  for (let i = 0; i < 1000; i++) {
    const key = random.below(12)
    versions.set(key, i)
    if (random.below(3) === 0) queue.addAfter(key, random.below(50))
    else queue.add(key)
    await clock.advance(random.below(5))
  }
  await clock.runUntilIdle()
  queue.close()
  await Promise.all(workers)
  equal(overlaps, 0)
  deepEqual(handled, versions)
})
