// The areas of the differential test: one table of states each.
import type { Scenario } from './scenario.ts'
import { ephemeralScenarios } from './scenarios/ephemeral.ts'
import { matchingScenarios } from './scenarios/matching.ts'
import { prebindingScenarios } from './scenarios/prebinding.ts'
import { provisioningScenarios } from './scenarios/provisioning.ts'
import { reclaimingScenarios } from './scenarios/reclaiming.ts'

export const areas: Readonly<Record<string, readonly Scenario[]>> = {
  ephemeral: ephemeralScenarios,
  matching: matchingScenarios,
  prebinding: prebindingScenarios,
  provisioning: provisioningScenarios,
  reclaiming: reclaimingScenarios,
}
