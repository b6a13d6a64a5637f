// SearchBudget: how much work the search for devices may do in one scheduling cycle. The work is counted, not timed, so
// that the result does not depend on the machine; upstream stops the search on a node after ten seconds. Results of
// selectors are cached, so a pod whose search ended in them gets further with each attempt.

/** About a tenth of a second. One unit is a comparison of two devices, or the cost of a selector as CEL counts it. */
const searchStepsMax = 200_000
/** What the search on one more node may take. */
const searchStepsPerNode = 1_000

/** The budget is used up. */
export class SearchTimeout extends Error {}

export class SearchBudget {
  #left: number

  constructor(nodes: number) {
    this.#left = searchStepsMax + nodes * searchStepsPerNode
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new SearchTimeout('timed out trying to allocate devices')
  }
}
