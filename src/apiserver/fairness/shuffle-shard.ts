// Shuffle sharding: each flow is dealt a hand of queues. Two flows rarely share all of them, so a flow that floods its
// own queues leaves the others at least one.

/** The queues of a flow: `handSize` different numbers below `queues`, the same for the same flow. */
export function dealHand(flow: string, queues: number, handSize: number): readonly number[] {
  const next = wordsOf(flow)
  const hand: number[] = []
  for (let dealt = 0; dealt < handSize && dealt < queues; dealt++) {
    // The card of this index among the remaining ones: each lower card that was dealt shifts it by one.
    let card = next() % (queues - dealt)
    for (const taken of hand.toSorted((a, b) => a - b)) if (taken <= card) card++
    hand.push(card)
  }
  return hand
}

/** Deterministic 32-bit words: FNV-1a over the text, then a mixing step per word. */
function wordsOf(text: string): () => number {
  let state = 0x811c9dc5
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193)
  return () => {
    state = (state + 0x9e3779b9) | 0
    let word = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    return (word ^ (word >>> 16)) >>> 0
  }
}
