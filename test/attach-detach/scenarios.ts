// All scenarios of the attach/detach controller.
import { attaching } from './attaching.ts'
import { detaching } from './detaching.ts'
import { multiAttach } from './multi-attach.ts'
import { restarting } from './restarting.ts'
import type { Scenario } from './scenario.ts'

export const lastingScenarios: readonly Scenario[] = [...attaching, ...detaching, ...multiAttach]
export const restartingScenarios: readonly Scenario[] = restarting
