// What compare and applied-fields do with the fields of a struct: its node in a field set, and the fields in which two
// objects differ. Like the functions of messages they are generated, except for structs with very many fields.
import { lookup } from '../../base/collections/lookup.ts'
import { Code, js } from '../descriptor/code.ts'
import { propertyOf, propertyRead, readProperty } from '../descriptor/property.ts'
import { emptySet, type FieldSet } from './field-set.ts'
import { fieldElement, self } from './path-element.ts'
import { SetBuilder } from './set-builder.ts'
import type { Structure, StructDifferences, StructField, StructNode, StructStructure } from './structure.ts'

/** The number of bits of a small integer. */
const maskFieldsMax = 30

/** Shared nodes of one struct. When there are more, the cache is emptied. */
const sharedNodesMax = 10_000

/** Compiling the code of a struct with very many fields, which only a custom resource has, would block the event loop. */
const generatedFieldsMax = 200

export type FunctionMode = 'generated' | 'closures'

const modeFor = ({ length }: readonly StructField[]): FunctionMode =>
  length > generatedFieldsMax ? 'closures' : 'generated'

export const structNode = (structure: StructStructure): StructNode =>
  (structure.compiled.node ??=
    structure.others === undefined
      ? structNodeIn(modeFor(structure.ordered), structure.ordered)
      : openNode(structure, structure.others))

export const structDifferences = (structure: StructStructure): StructDifferences =>
  (structure.compiled.differences ??=
    structure.others === undefined
      ? structDifferencesIn(modeFor(structure.ordered), structure.ordered)
      : openDifferences(structure, structure.others))

/** The node of a struct with fields that are not declared. */
function openNode({ fields }: StructStructure, others: Structure): StructNode {
  return (object, descend, isMember) => {
    let builder: SetBuilder | undefined
    for (const name of Object.keys(object).toSorted()) {
      const value = lookup(object, name)
      if (value === undefined) continue
      const field = fields.get(name)
      const node = field === undefined ? descend(others, value, true) : descend(field.structure, value)
      if (node !== undefined) (builder ??= new SetBuilder(isMember)).add(fieldElement(name), node)
    }
    return builder?.set
  }
}

/** The differences of structs with fields that are not declared. */
function openDifferences({ fields }: StructStructure, others: Structure): StructDifferences {
  return (old, next, differs) => {
    for (const name of [...new Set([...Object.keys(old), ...Object.keys(next)])].toSorted()) {
      const before = lookup(old, name)
      const after = lookup(next, name)
      if (before === after) continue
      const field = fields.get(name) ?? { name, element: fieldElement(name), structure: others, absent: undefined }
      differs(field, before, after)
    }
  }
}

/** `ordered` are the fields in the order of field sets. */
export const structNodeIn = (mode: FunctionMode, ordered: readonly StructField[]): StructNode =>
  mode === 'generated' ? generateNode(ordered) : composeNode(ordered)

export const structDifferencesIn = (mode: FunctionMode, ordered: readonly StructField[]): StructDifferences =>
  mode === 'generated' ? generateDifferences(ordered) : composeDifferences(ordered)

function composeNode(ordered: readonly StructField[]): StructNode {
  const fields = ordered.map(({ name, element, structure }) => ({
    ...propertyOf(name),
    element,
    structure,
    isLeaf: isLeaf(structure),
  }))
  const sharedNode = ordered.length <= maskFieldsMax ? sharedNodes(ordered) : undefined
  return (object, descend, isMember) => {
    const found: { readonly element: string; readonly node: FieldSet }[] = []
    let mask = 0
    for (const [index, field] of fields.entries()) {
      const value = readProperty(object, field)
      if (value === undefined) continue
      const node = field.isLeaf ? emptySet : descend(field.structure, value)
      if (node === undefined) continue
      found.push({ element: field.element, node })
      mask |= 1 << index
    }
    if (found.length === 0) return undefined
    if (sharedNode !== undefined && found.every(({ node }) => node === emptySet)) return sharedNode(mask, isMember)
    const builder = new SetBuilder(isMember)
    for (const { element, node } of found) builder.add(element, node)
    return builder.set
  }
}

function generateNode(ordered: readonly StructField[]): StructNode {
  const code = new Code()
  const isShared = ordered.length <= maskFieldsMax
  const empty = code.constant(emptySet)
  code.line(js`let mask = 0, isDeep = false`)
  const nodes = ordered.map(({ element, name, structure }, index) => {
    const node = code.variable()
    const value = code.variable()
    code.line(js`let ${node}; const ${value} = ${propertyRead(code, js`object`, name)}; if (${value} !== undefined) {`)
    code.line(js`${node} = ${isLeaf(structure) ? empty : js`descend(${code.constant(structure)}, ${value})`}`)
    code.line(
      js`if (${node} !== undefined) { mask |= ${isShared ? 1 << index : 1}; if (${node} !== ${empty}) isDeep = true } }`,
    )
    return { element, node }
  })
  code.line(js`if (mask === 0) return undefined`)
  if (isShared) code.line(js`if (!isDeep) return ${code.constant(sharedNodes(ordered))}(mask, isMember)`)
  code.line(js`const builder = new ${code.constant(SetBuilder)}(isMember)`)
  for (const { element, node } of nodes) code.line(js`if (${node} !== undefined) builder.add(${element}, ${node})`)
  code.line(js`return builder.set`)
  return code.compiled([js`object`, js`descend`, js`isMember`]) as StructNode
}

const isLeaf = (structure: Structure): boolean =>
  structure.kind === 'scalar' ||
  ((structure.kind === 'struct' || structure.kind === 'map') && structure.isAtomic) ||
  (structure.kind === 'list' && structure.listType === 'atomic')

/** A node without children depends only on which fields are set, so one node is shared by all objects that set the same. */
function sharedNodes(ordered: readonly StructField[]): (mask: number, isMember: boolean) => FieldSet {
  const known = new Map<number, FieldSet>()
  return (mask, isMember) => {
    const key = mask * 2 + (isMember ? 1 : 0)
    const found = known.get(key)
    if (found !== undefined) return found
    const fields = ordered.filter((_, index) => (mask & (1 << index)) !== 0)
    const elements = [...(isMember ? [self] : []), ...fields.map(({ element }) => element)]
    const node = Object.freeze(Object.fromEntries(elements.map((element) => [element, emptySet])))
    if (known.size >= sharedNodesMax) known.clear()
    known.set(key, node)
    return node
  }
}

function composeDifferences(ordered: readonly StructField[]): StructDifferences {
  const fields = ordered.map((field) => ({ ...propertyOf(field.name), field }))
  return (old, next, differs) => {
    for (const property of fields) {
      const before = readProperty(old, property)
      const after = readProperty(next, property)
      if (before !== after) differs(property.field, before, after)
    }
  }
}

function generateDifferences(ordered: readonly StructField[]): StructDifferences {
  const code = new Code()
  for (const field of ordered) {
    const before = code.variable()
    const after = code.variable()
    const old = propertyRead(code, js`old`, field.name)
    const next = propertyRead(code, js`next`, field.name)
    code.line(js`const ${before} = ${old}, ${after} = ${next}`)
    code.line(js`if (${before} !== ${after}) differs(${code.constant(field)}, ${before}, ${after})`)
  }
  return code.compiled([js`old`, js`next`, js`differs`]) as StructDifferences
}
