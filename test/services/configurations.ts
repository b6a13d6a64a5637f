// The configurations of the differential test: one table of exchanges each.
import { addressScenarios, rangeScenarios } from './scenarios/addresses.ts'
import { familyScenarios } from './scenarios/families.ts'
import { portScenarios, scarcePortScenarios } from './scenarios/ports.ts'
import { typeScenarios } from './scenarios/types.ts'
import { upgradeScenarios } from './scenarios/upgrades.ts'
import type { Configuration } from './scenario.ts'

const v4 = '10.96.0.0/16'
const v6 = 'fd00:96::/112'

export const configurations: Readonly<Record<string, Configuration>> = {
  'dual-stack': {
    clusterRanges: `${v4},${v6}`,
    scenarios: [
      ...familyScenarios,
      ...upgradeScenarios,
      ...typeScenarios,
      ...addressScenarios,
      ...rangeScenarios,
      ...portScenarios,
    ],
  },
  'dual-stack-ipv6-first': { clusterRanges: `${v6},${v4}`, scenarios: [...familyScenarios, ...upgradeScenarios] },
  'single-stack-ipv4': { clusterRanges: v4, scenarios: [...familyScenarios, ...upgradeScenarios, ...typeScenarios] },
  'single-stack-ipv6': {
    clusterRanges: v6,
    nodePorts: '30000-30003',
    scenarios: [...familyScenarios, ...scarcePortScenarios],
  },
}
