import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionLimiter } from './connection-limiter.ts'

const limits = { connectionsMax: 6, connectionsPerClientMax: 4, handshakesMax: 3 }

/** `a1` is the first connection of client a; `+` opens it, `=` completes its handshake, `-` closes it. */
const table: [name: string, steps: string, outcome: string][] = [
  ['connections within the limits are accepted', '+a1 =a1 +a2 =a2 +b1', 'accepted'],
  ['a client has no more than its share', '+a1 =a1 +a2 =a2 +a3 =a3 +a4 =a4 +a5', 'connections-per-client'],
  ['a closed connection makes room for its client', '+a1 =a1 +a2 =a2 +a3 =a3 +a4 =a4 -a1 +a5', 'accepted'],
  ['all clients have no more than the limit', '+a1 =a1 +a2 =a2 +a3 =a3 +b1 =b1 +b2 =b2 +b3 =b3 +c1', 'connections'],
  [
    'a handshake makes room when all connections are in use',
    '+a1 +b1 =b1 +b2 =b2 +b3 =b3 +b4 =b4 +c1 =c1 +c2',
    'sheds a1',
  ],
  ['too many handshakes: the oldest of the client that has the most ends', '+b1 +a1 +a2 +c1', 'sheds a1'],
  ['a completed handshake is not counted as one', '+a1 =a1 +a2 =a2 +a3 +b1 +b2', 'accepted'],
  ['a handshake that was closed is not counted either', '+a1 +a2 +a3 -a1 +b1', 'accepted'],
  ['closing twice counts once', '+a1 +a2 +a3 -a1 -a1 +a4 +b1', 'sheds a2'],
]
for (const [name, steps, outcome] of table)
  test(name, () => {
    const limiter = new ConnectionLimiter<string>(limits)
    const open = new Set<string>()
    let last = ''
    for (const step of steps.split(' ')) {
      const connection = step.slice(1)
      const client = step.slice(1, 2)
      if (step.startsWith('=')) limiter.established(client, connection)
      else if (step.startsWith('-')) {
        if (open.delete(connection)) limiter.closed(client, connection)
      } else {
        const acceptance = limiter.accept(client, connection)
        open.add(connection)
        last =
          acceptance.kind === 'rejected'
            ? acceptance.reason
            : acceptance.shed === undefined
              ? 'accepted'
              : `sheds ${acceptance.shed}`
      }
    }
    deepEqual(last, outcome)
  })
