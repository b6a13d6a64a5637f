// Explains which resources of a ResourceQuota are used up.
import { lookup } from '../../../base/collections/lookup.ts'
import { resourceQuota, type ResourceQuota } from '../../../api/core/v1/quota/resource-quota.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { quantityNanos, quantityText, quantityUnits } from '../../../schema/scalar/quantity.ts'
import { defineExplainer } from '../explainer/explainer.ts'
import { warning } from '../explainer/finding.ts'
import { mergePatch } from '../explainer/fix-command.ts'

export const quotaExplainer = defineExplainer({
  kind: resourceQuota,
  checked: 'its usage',
  explain(object) {
    const { hard = {}, used = {} } = object.status
    const full = Object.entries(hard).filter(
      ([name, most]) => quantityUnits(lookup(used, name) ?? '0') >= quantityUnits(most),
    )
    return Promise.resolve(
      full.map(([name, most]) =>
        warning(`Its quota of ${name} is used up: ${lookup(used, name) ?? '0'} of ${most}.`, {
          fix: quotaCommand(object, name),
        }),
      ),
    )
  },
})

/** Twice as much of the resource, or one where it is zero; at least what is used and `missingNanos` beside it. */
export function quotaCommand(quota: ResourceQuota, resource: string, missingNanos = 0n): string {
  const most = lookup(quota.spec.hard, resource) ?? '0'
  const nanos = quantityNanos(most) ?? 0n
  const used = quantityNanos(lookup(quota.status.used, resource) ?? '0') ?? 0n
  const needed = used + missingNanos
  const doubled = nanos * 2n > needed ? nanos * 2n : needed
  const more = doubled === 0n ? '1' : quantityText(doubled, most)
  return mergePatch(`quota/${quota.metadata.name}`, namespaceOf(quota), { spec: { hard: { [resource]: more } } })
}
