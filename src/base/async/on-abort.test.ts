import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { offAbort, onAbort } from './on-abort.ts'

test('whoever waits for a signal is called when it is aborted, in the order of coming; who left is not', () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const called: string[] = []
  const callback = (name: string) => () => void called.push(name)
  const leaving = callback('left')
  onAbort(one.signal, callback('first'))
  onAbort(one.signal, leaving)
  onAbort(one.signal, callback('second'))
  onAbort(other.signal, callback('other'))
  offAbort(one.signal, leaving)
  one.abort()
  deepEqual(called, ['first', 'second'])
  other.abort()
  deepEqual(called, ['first', 'second', 'other'])
})

test('one that goes while others are called is not called any more', () => {
  const controller = new AbortController()
  const called: string[] = []
  const second = () => void called.push('second')
  onAbort(controller.signal, () => {
    called.push('first')
    offAbort(controller.signal, second)
  })
  onAbort(controller.signal, second)
  controller.abort()
  deepEqual(called, ['first'])
})
