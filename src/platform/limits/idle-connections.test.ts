import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { connectionsToClose, type ConnectionUse } from './idle-connections.ts'

/** `a:30` is a connection of client a, idle for 30 s; `!` marks an authenticated one and `*` a busy one. */
const useOf = (text: string): ConnectionUse & { readonly text: string } => ({
  text,
  client: text.slice(0, 1),
  isBusy: text.endsWith('*'),
  isAuthenticated: text.includes('!'),
  idleSeconds: Number.parseInt(text.slice(2), 10),
})

const limits = { connectionsMax: 10, connectionsPerClientMax: 5 }
const table: [name: string, open: string, closed: string][] = [
  ['nothing is closed while there is room', 'a:30 a:30 a:30 b:30', ''],
  ['the longest idle connection of a client near its limit is closed', 'a:10 a:30 a:20 a:5 a:40', 'a:40'],
  ['an unauthenticated connection is closed before an authenticated one', 'a:90! a:10 a:80! a:70! a:60!', 'a:10'],
  ['an authenticated connection is closed when there is no other', 'a:90! a:10! a:80! a:70! a:60!', 'a:90!'],
  ['busy connections are not closed', 'a:90* a:90* a:90* a:90* a:90*', ''],
  ['a connection that was just in use is not closed', 'a:0 a:0 a:0 a:0 a:0', ''],
  ['an authenticated connection may be idle for a while', 'a:9! a:9! a:9! a:9! a:9!', ''],
  [
    'near the total limit the longest idle connection of any client is closed',
    'a:10 a:11 a:12 b:10 b:11 b:12 c:10 c:11 c:12 d:13',
    'd:13',
  ],
  [
    'connections closed for the limit of a client count towards the total',
    'a:10 a:11 a:12 a:13 a:14 b:10 b:11 c:10 c:90 d:90',
    'a:14',
  ],
]
for (const [name, open, closed] of table)
  test(name, () =>
    deepEqual(
      connectionsToClose(open.split(' ').map(useOf), limits)
        .map(({ text }) => text)
        .join(' '),
      closed,
    ),
  )
