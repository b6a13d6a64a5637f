import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { headerChanges } from './header-changes.ts'

const fixed = [
  ...['Transfer-Encoding', 'Content-Length', 'Host', 'Connection', 'Keep-Alive', 'Upgrade', 'TE', 'Trailer', 'Expect'],
  ...['Proxy-Connection', 'Proxy-Authorization', 'HTTP2-Settings', ':authority', ':path', 'a b', 'a\r\nb', ''],
]

suite('a filter cannot set, add or remove', () => {
  for (const name of fixed)
    test(JSON.stringify(name), () => {
      const message = `header ${name} cannot be changed by a filter`
      equal(headerChanges({ set: [{ name, value: '1' }] }), message)
      equal(
        headerChanges({ add: [{ name: name.toLowerCase(), value: '1' }] }),
        message.replace(name, name.toLowerCase()),
      )
      equal(headerChanges({ remove: ['x-a', name] }), message)
    })
})

test('a value cannot end its header', () => {
  for (const value of ['a\r\nb: c', 'a\nb', 'a\0', '\u{1f600}'])
    equal(
      headerChanges({ set: [{ name: 'x-a', value }] }),
      'the value of header x-a contains characters that a header cannot have',
    )
})

test('names are in lower case, and of several entries for a name the first is used', () => {
  const entries = [
    { name: 'X-A', value: '1' },
    { name: 'x-a', value: '2' },
  ]
  deepEqual(headerChanges({ set: entries, add: entries, remove: ['X-B'] }), {
    set: [{ name: 'x-a', value: '1' }],
    add: [{ name: 'x-a', value: '1' }],
    remove: ['x-b'],
  })
  deepEqual(headerChanges({}), { set: [], add: [], remove: [] })
})
