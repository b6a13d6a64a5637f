// Every admission plugin, in the order in which they are asked.
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import type { AdmissionPlugin } from './plugin.ts'

export const admissionPlugins: readonly AdmissionPlugin[] = [namespaceLifecycle]
