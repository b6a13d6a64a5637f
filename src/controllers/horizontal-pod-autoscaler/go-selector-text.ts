// goSelectorText: a label selector as Go prints it, which upstream's messages about external metrics contain.
import type { LabelSelector } from '../../api/meta/v1/label-selector.ts'

export function goSelectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
