// The cost of the patterns of named formats, for each ten characters of a text. Observed: upstream derives it from the length
// of its own regular expressions.
import { lookup } from '../../base/collections/lookup.ts'
import { Format } from '../library/kubernetes/format-functions.ts'
import type { Value } from '../values/value.ts'

const patternCosts: Readonly<Record<string, number>> = {
  byte: 21,
  date: 18,
  datetime: 18,
  dns1035Label: 8,
  dns1035LabelPrefix: 8,
  dns1123Label: 8,
  dns1123LabelPrefix: 8,
  dns1123Subdomain: 15,
  dns1123SubdomainPrefix: 15,
  labelValue: 10,
  qualifiedName: 15,
  uri: 276,
  uuid: 18,
}

/** The highest cost of a pattern, for estimates. */
export const patternCostMax = Math.max(...Object.values(patternCosts))

export const formatPatternCost = (format: Value | undefined): number =>
  (format instanceof Format ? lookup(patternCosts, format.name) : undefined) ?? patternCostMax
