// A scenario of the attach/detach controller.
import type { Stage } from './stage.ts'

export interface Scenario {
  readonly name: string
  readonly run: (stage: Stage) => Promise<void>
}

export const scenario = (name: string, run: Scenario['run']): Scenario => ({ name, run })

/** A driver, one node and one volume. */
export async function oneNode(s: Stage, driver: object = {}): Promise<void> {
  await s.driver(driver)
  await s.node('n1')
  await s.volume('v1')
}

/** A driver, two nodes and one volume. */
export async function twoNodes(s: Stage, accessModes: readonly string[] = ['ReadWriteOnce']): Promise<void> {
  await s.driver()
  await s.node('n1')
  await s.node('n2')
  await s.volume('v1', { accessModes })
}

/** The volume is attached for pod a on n1. */
export async function attachedFirst(s: Stage, options: { hasFinalizer?: boolean } = {}): Promise<void> {
  await s.pod('a', 'n1', ['v1'])
  await s.attached('v1', 'n1', options)
  await s.see()
}
