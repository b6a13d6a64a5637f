// Bytes as slow networks, proxies and impatient clients send and read them.
import { once } from 'node:events'
import { realClock } from '../../../src/base/time/clock.ts'
import { exchangeOf, overConnections, type Exchange } from './exchange.ts'
import { RawConnection, requestBytes } from './raw-connection.ts'
import type { Stack, Target } from './stack.ts'

const kinds = 4

/** `send` for each number, on one of several connections. */
async function onConnections(
  { access }: Target,
  count: number,
  connections: number,
  send: (connection: RawConnection, index: number) => Promise<void>,
): Promise<void> {
  const opened = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(access)))
  await overConnections(count, connections, (index, connection) => send(opened[connection] as RawConnection, index))
  for (const connection of opened) connection.close()
}

const split: Stack = {
  name: 'requests split at every byte',
  part: 0.04,
  async run(target, count) {
    await onConnections(target, count, 16, async (connection, index) => {
      const exchange = exchangeOf(index)
      const bytes = requestBytes(exchange)
      // The next request of the same kind is split one byte later.
      const at = Math.floor(index / kinds) % bytes.length
      await connection.exchange([exchange], [bytes.subarray(0, at), bytes.subarray(at)])
    })
    return { answered: count, left: 0 }
  },
}

const byteByByte: Stack = {
  name: 'requests byte by byte',
  part: 0.001,
  async run(target, count) {
    await onConnections(target, count, 16, async (connection, index) => {
      const exchange = exchangeOf(index + 1)
      const bytes = requestBytes(exchange)
      const single = Array.from({ length: Math.min(bytes.length, 1_000) }, (_, at) => bytes.subarray(at, at + 1))
      await connection.exchange([exchange], [...single, bytes.subarray(single.length)])
    })
    return { answered: count, left: 0 }
  },
}

const together: Stack = {
  name: 'several requests in one packet',
  part: 0.06,
  async run(target, count) {
    const most = 8
    const batches = Math.ceil(count / most)
    await onConnections(target, batches, 16, async (connection, batch) => {
      const exchanges = Array.from({ length: most }, (_, at) => exchangeOf(batch * most + at))
      await connection.exchange(exchanges, [Buffer.concat(exchanges.map(requestBytes))])
    })
    return { answered: batches * most, left: 0 }
  },
}

/** A response that does not fit into the buffers of the sockets. */
const largeExchange = (index: number): Exchange => exchangeOf(997 * (kinds * index + 1))

const slowReaders: Stack = {
  name: 'slow readers',
  part: 0.002,
  async run(target, count) {
    const rest = new AbortController().signal
    await onConnections(target, Math.ceil(count / 2), 8, async (connection, index) => {
      const { socket } = connection
      // One piece per millisecond.
      const pause = () => {
        socket.pause()
        void realClock.sleep(1, rest).then(() => socket.resume())
      }
      socket.on('data', pause)
      const exchanges = [largeExchange(index), largeExchange(index + 1)]
      await connection.exchange(exchanges, exchanges.map(requestBytes))
      socket.off('data', pause)
    })
    return { answered: 2 * Math.ceil(count / 2), left: 0 }
  },
}

const halfClosed: Stack = {
  name: 'connections that the client ends after its request',
  part: 0.005,
  async run({ access }, count) {
    await overConnections(count, 8, async (index) => {
      const connection = await RawConnection.open(access)
      const exchange = exchangeOf(index)
      const ended = once(connection.socket, 'end')
      const exchanged = connection.exchange([exchange], [requestBytes(exchange)])
      connection.socket.end()
      await Promise.all([exchanged, ended])
      connection.close()
    })
    return { answered: count, left: 0 }
  },
}

export const rawBytes: readonly Stack[] = [split, byteByByte, together, slowReaders, halfClosed]
