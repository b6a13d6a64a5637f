// Reads that wait for a revision of a feed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { FeedProgress } from './feed-progress.ts'
import { RevisionWaiters } from './revision-waiters.ts'

const { signal } = new AbortController()

test('waiters get each revision until none is left', async () => {
  const progress = new FeedProgress()
  const waiters = new RevisionWaiters(new VirtualClock())
  const reached: number[] = []
  const waitFor = (revision: number) =>
    waiters.wait(revision, () => progress.revision, signal).then(() => reached.push(revision))
  const waits = [waitFor(3), waitFor(5)]
  progress.notify(waiters)
  progress.reached(3)
  await waits[0]
  deepEqual(reached, [3])
  equal(waiters.size, 1)
  progress.reached(7)
  await waits[1]
  deepEqual(reached, [3, 5])
  progress.reached(8)
  equal(waiters.size, 0)
})

test('the revision of a restored store may be an earlier one', () => {
  const progress = new FeedProgress()
  progress.reached(9)
  progress.reached(4)
  equal(progress.revision, 4)
})
