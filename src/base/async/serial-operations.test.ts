import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { SerialOperations } from './serial-operations.ts'

test('operations of one key run one after the other, those of different keys at the same time', async () => {
  const operations = new SerialOperations()
  const done: string[] = []
  const first = Promise.withResolvers<void>()
  const a1 = operations.run('a', async () => {
    await first.promise
    done.push('a1')
  })
  const a2 = operations.run('a', async () => void done.push('a2'))
  await operations.run('b', async () => void done.push('b'))
  deepEqual(done, ['b'])
  first.resolve()
  await Promise.all([a1, a2])
  deepEqual(done, ['b', 'a1', 'a2'])
})

test('a failed operation rejects, and the next one runs', async () => {
  const operations = new SerialOperations()
  const failed = operations.run('a', () => Promise.reject(new Error('broken')))
  const next = operations.run('a', () => Promise.resolve(1))
  await rejects(failed, /broken/)
  equal(await next, 1)
})
