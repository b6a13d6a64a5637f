import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../../base/async/event-loop-turn.ts'
import { frameBytesMax, Link, newLinkMemory, otherSide } from './link.ts'

/** How many of the longest frames fit into the ring. */
const framesFitting = 15
const frame = Buffer.alloc(frameBytesMax)

for (const [when, takesEarly] of [
  ['after the notification was requested', false],
  ['before the notification was requested', true],
] as const)
  test(`a sender without room is notified, also when the peer has made room ${when}`, async () => {
    const memory = newLinkMemory()
    let rooms = 0
    let taken = 0
    const sender = new Link(memory, { wakePeer: () => receiver.onWake(), onFrame() {}, onRoom: () => rooms++ })
    const receiver = new Link(otherSide(memory), {
      wakePeer: () => sender.onWake(),
      onFrame: () => taken++,
      onRoom() {},
    })
    const send = () => sender.send(1, [frame], frame.length)
    for (let count = 0; count < framesFitting; count++) send()
    await eventLoopTurn()
    equal(sender.isFull, false)
    send()
    equal(sender.isFull, true)
    if (takesEarly) receiver.onWake()
    for (let turns = 0; turns < 3; turns++) {
      await eventLoopTurn()
      receiver.onWake()
    }
    deepEqual([rooms, taken, sender.isFull], [1, framesFitting + 1, false])
  })
