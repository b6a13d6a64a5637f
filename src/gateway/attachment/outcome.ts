// Outcome: whether something holds, with the reason and message of its condition.

export interface Outcome {
  readonly isMet: boolean
  readonly reason: string
  readonly message: string
}

export const met = (reason: string, message: string): Outcome => ({ isMet: true, reason, message })
export const unmet = (reason: string, message: string): Outcome => ({ isMet: false, reason, message })
