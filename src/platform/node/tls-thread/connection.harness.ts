// Both sides of a connection in one thread, with a pair of streams as the socket.
import { deepEqual } from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { onNextTurn } from '../../../base/async/event-loop-turn.ts'
import { Link, newLinkMemory, otherSide } from './link.ts'
import { LinkedSocket } from './linked-socket.ts'
import { fromClient, kindOf, type OpenedPeer } from './protocol.ts'
import { ThreadConnection } from './thread-connection.ts'

const peer: OpenedPeer = { remoteAddress: '10.0.0.1', isHttp2: false }

/** The client's end of a socket, and the socket on the other side of the link. `onFrame` may keep frames from it. */
export async function connected(onFrame?: (tag: number, bytes: Buffer) => void, ringBytes?: number) {
  const memory = newLinkMemory(ringBytes)
  const held = new Set<ThreadConnection>()
  const [client, socket] = duplexPair()
  const opened = Promise.withResolvers<OpenedPeer>()
  const acceptor = new Link(memory, {
    wakePeer: () => onNextTurn(() => thread.onWake()),
    onFrame(tag, bytes) {
      if (kindOf(tag) === fromClient.opened) opened.resolve(JSON.parse(bytes.toString()) as OpenedPeer)
      else if (onFrame === undefined) linked.onFrame(tag, bytes)
      else onFrame(tag, bytes)
    },
    onRoom() {},
  })
  const thread = new Link(otherSide(memory), {
    wakePeer: () => onNextTurn(() => acceptor.onWake()),
    onFrame: (tag, bytes) => connection.onFrame(tag, bytes),
    onRoom() {
      for (const each of held) each.release()
    },
  })
  const linked = new LinkedSocket(acceptor, 7)
  const connection = new ThreadConnection(socket, 7, thread, held)
  connection.open(peer)
  for (const side of [acceptor, thread]) side.onWake()
  deepEqual(await opened.promise, peer)
  return { client, linked, held }
}
