// The index of keys by lease: complete for present and pending writes, and without keys of the past.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { History } from './history.ts'
import type { Operation } from './store.ts'

const value = new TextEncoder().encode('v')
const put = (key: string, lease?: number): Operation => ({
  kind: 'put',
  key,
  value,
  ...(lease === undefined ? {} : { lease: lease }),
})
const remove = (key: string): Operation => ({ kind: 'delete', key })

const started = () => {
  const history = new History()
  const write = (...operations: readonly Operation[]) => history.append(operations, 0)
  const keysOf = (lease: number) => history.keysOf(lease)
  return { history, write, keysOf }
}

test('keys that are put with a lease and deleted leave nothing behind', () => {
  const { history, write } = started()
  for (let index = 0; index < 100; index++) {
    write(put(`/a${index}`, 7))
    history.publish(1)
    write(remove(`/a${index}`))
    history.publish(1)
  }
  equal(history.leasedKeys, 0)
})

test('a key that gets another lease, or none, leaves its former one', () => {
  const { history, write, keysOf } = started()
  write(put('/a', 7), put('/b', 7), put('/c', 7))
  write(put('/a', 8), put('/b'))
  history.publish(2)
  deepEqual([keysOf(7), keysOf(8), history.leasedKeys], [['/c'], ['/a'], 2])
})

const writes: Readonly<Record<string, readonly (readonly Operation[])[]>> = {
  'that is deleted and put again': [[remove('/a')], [put('/a', 7)]],
  'that is put without the lease and with it again': [[put('/a')], [put('/a', 7)]],
  'that has another lease in between': [[put('/a', 8)], [put('/a', 7)]],
}

for (const [what, pending] of Object.entries(writes))
  test(`a key ${what} belongs to its lease, whichever of the writes are published`, () => {
    for (let published = 0; published <= pending.length; published++) {
      const { history, write, keysOf } = started()
      write(put('/a', 7))
      history.publish(1)
      for (const operations of pending) write(...operations)
      history.publish(published)
      deepEqual(keysOf(7), ['/a'], `${published} published`)
      history.publish(pending.length - published)
      deepEqual([keysOf(7), history.leasedKeys], [['/a'], 1])
    }
  })

test('a pending write that removes a key from its lease can be discarded', () => {
  const { history, write, keysOf } = started()
  write(put('/a', 7))
  history.publish(1)
  write(put('/b', 7))
  write(put('/a', 8))
  history.publish(1)
  history.discardPending()
  deepEqual(keysOf(7), ['/a', '/b'])
})

test('a pending write is published after the one before it has removed the key', () => {
  const { history, write, keysOf } = started()
  write(put('/a', 7))
  history.publish(1)
  write(remove('/a'))
  write(put('/a', 7))
  write(put('/a', 8))
  history.publish(1)
  history.publish(1)
  history.discardPending()
  deepEqual(keysOf(7), ['/a'])
})
