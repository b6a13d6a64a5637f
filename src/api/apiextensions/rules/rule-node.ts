// RuleNode: a schema with rules, or with rules below it, compiled. Schemas without any have no node.
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { CompiledRules } from './compiled-rules.ts'

export interface RuleNode {
  readonly schema: JsonSchemaProps
  readonly rules: CompiledRules | undefined
  readonly items: RuleNode | undefined
  readonly values: RuleNode | undefined
  readonly properties: ReadonlyMap<string, RuleNode>
}

export function ruleNode(schema: JsonSchemaProps, isRoot: boolean): RuleNode | undefined {
  const { items, additionalProperties } = schema
  const own = schema['x-kubernetes-validations'] ?? []
  const node: RuleNode = {
    schema,
    rules: own.length === 0 ? undefined : new CompiledRules(schema, own, isRoot),
    items: isSchema(items) ? ruleNode(items, false) : undefined,
    values: isSchema(additionalProperties) ? ruleNode(additionalProperties, false) : undefined,
    properties: propertyNodes(schema),
  }
  const isEmpty = node.rules === undefined && node.items === undefined && node.values === undefined
  return isEmpty && node.properties.size === 0 ? undefined : node
}

const isSchema = (part: unknown): part is JsonSchemaProps =>
  typeof part === 'object' && part !== null && !Array.isArray(part)

function propertyNodes({ properties = {} }: JsonSchemaProps): ReadonlyMap<string, RuleNode> {
  const nodes = new Map<string, RuleNode>()
  for (const [name, property] of Object.entries(properties)) {
    const node = ruleNode(property, false)
    if (node !== undefined) nodes.set(name, node)
  }
  return nodes
}
