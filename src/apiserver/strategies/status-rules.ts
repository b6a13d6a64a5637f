// What an update of the status preserves of the metadata, for the kinds that differ from the others.
import { validatingAdmissionPolicy } from '../../api/admissionregistration/v1/validating-admission-policy.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { flowSchema } from '../../api/flowcontrol/v1/flow-schema.ts'
import { priorityLevelConfiguration } from '../../api/flowcontrol/v1/priority-level-configuration.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { resourceClaim } from '../../api/resource/v1/resource-claim.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import type { StatusRule } from '../objects/status-update.ts'

export const statusRules: ReadonlyMap<Kind, StatusRule> = new Map<Kind, StatusRule>([
  [customResourceDefinition, 'all metadata'],
  [deployment, ['labels']],
  [flowSchema, 'all metadata'],
  [pod, ['deletionTimestamp', 'ownerReferences']],
  [priorityLevelConfiguration, 'all metadata'],
  [resourceClaim, 'all metadata'],
  [validatingAdmissionPolicy, 'all metadata'],
  [volumeAttachment, 'all metadata'],
])
