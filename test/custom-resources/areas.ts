// The areas of the differential test: one table of exchanges each, in alphabetical order.
import type { Scenario } from './scenario.ts'
import { applies } from './scenarios/apply.ts'
import { defaulting } from './scenarios/defaulting.ts'
import { definitionDetails } from './scenarios/definition-details.ts'
import { definitionUpdates } from './scenarios/definition-updates.ts'
import { definitions } from './scenarios/definitions.ts'
import { deletions } from './scenarios/deletion.ts'
import { discoveries } from './scenarios/discovery.ts'
import { expressions } from './scenarios/expressions.ts'
import { fieldValidation } from './scenarios/field-validation.ts'
import { formats } from './scenarios/formats.ts'
import { integers } from './scenarios/integers.ts'
import { invalidDefinitions } from './scenarios/invalid-definitions.ts'
import { invalidSchemas } from './scenarios/invalid-schemas.ts'
import { keywordScenarios } from './scenarios/keywords.ts'
import { lists } from './scenarios/lists.ts'
import { prunings } from './scenarios/pruning.ts'
import { requests } from './scenarios/requests.ts'
import { rules } from './scenarios/rules.ts'
import { selectors } from './scenarios/selectors.ts'
import { statusDefaulting } from './scenarios/status-defaulting.ts'
import { statusRequests } from './scenarios/status-requests.ts'
import { subresources } from './scenarios/subresources.ts'
import { tables } from './scenarios/tables.ts'
import { versions } from './scenarios/versions.ts'
import { yamlResponses } from './scenarios/yaml-responses.ts'

export const areas: Readonly<Record<string, readonly Scenario[]>> = {
  apply: applies,
  defaulting,
  'definition-details': definitionDetails,
  'definition-updates': definitionUpdates,
  definitions,
  deletion: deletions,
  discovery: discoveries,
  expressions,
  'field-validation': fieldValidation,
  formats,
  integers,
  'invalid-definitions': invalidDefinitions,
  'invalid-schemas': invalidSchemas,
  keywords: keywordScenarios,
  lists,
  pruning: prunings,
  requests,
  rules,
  selectors,
  'status-defaulting': statusDefaulting,
  'status-requests': statusRequests,
  subresources,
  tables,
  versions,
  'yaml-responses': yamlResponses,
}
