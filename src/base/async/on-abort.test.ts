import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { offAbort, onAbort } from './on-abort.ts'

test('callbacks run in order of registration when the signal is aborted; removed ones do not', () => {
  const one = new AbortController()
  const other = new AbortController()
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

test('a callback that is removed while others run is not called', () => {
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
