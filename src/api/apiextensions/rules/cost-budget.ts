// The cost that the rules of one object may have at run time, and the cost that one expression may have.

const objectCostMax = 10_000_000
export const expressionCostMax = 1_000_000

export class CostBudget {
  #left = objectCostMax

  /** No further rule of the object is evaluated. */
  get isSpent(): boolean {
    return this.#left < 0
  }

  get isEmpty(): boolean {
    return this.#left <= 0
  }

  /** Returns whether the cost was within the budget; if it was not, the budget is spent. */
  spend(cost: number): boolean {
    const isWithin = cost <= this.#left
    this.#left = isWithin ? this.#left - cost : -1
    return isWithin
  }

  end(): void {
    this.#left = -1
  }
}
