// struct-fields: what compare and claims do with the fields of a struct, compiled to one function per struct. A node
// whose fields hold nothing further depends only on which of them are there: such nodes are made once and shared.
import { Code, quoted } from '../descriptor/compile.ts'
import { emptySet, type FieldSet } from './field-set.ts'
import { self } from './path-element.ts'
import { SetBuilder } from './set-builder.ts'
import type { Structure, StructDifferences, StructField, StructNode, StructStructure } from './structure.ts'

/** What fits into the bits of a small integer. */
const maskFieldsMax = 30

export const structNode = ({ compiled, ordered }: StructStructure): StructNode => (compiled.node ??= nodeOf(ordered))

export const structDifferences = ({ compiled, ordered }: StructStructure): StructDifferences =>
  (compiled.differences ??= differencesOf(ordered))

function nodeOf(ordered: readonly StructField[]): StructNode {
  const code = new Code()
  const isShared = ordered.length <= maskFieldsMax
  code.line('let mask = 0, isDeep = false')
  for (const [index, { name, structure }] of ordered.entries()) {
    code.line(`let n${index}; { const value = object[${quoted(name)}]; if (value !== undefined) {`)
    code.line(`n${index} = ${isLeaf(structure) ? 'empty' : `descend(${code.constant(structure)}, value)`}`)
    code.line(
      `if (n${index} !== undefined) { mask |= ${isShared ? 1 << index : 1}; if (n${index} !== empty) isDeep = true } } }`,
    )
  }
  code.line('if (mask === 0) return undefined')
  if (isShared) code.line(`if (!isDeep) return ${code.constant(sharedNodes(ordered))}(mask, isMember)`)
  code.line(`const node = new ${code.constant(SetBuilder)}(isMember)`)
  for (const [index, { element }] of ordered.entries())
    code.line(`if (n${index} !== undefined) node.add(${quoted(element)}, n${index})`)
  code.line('return node.set')
  const run = code.compiled(['object', 'descend', 'isMember', 'empty']) as (...given: unknown[]) => FieldSet | undefined
  return (object, descend, isMember) => run(object, descend, isMember, emptySet)
}

const isLeaf = (structure: Structure): boolean =>
  structure.kind === 'scalar' ||
  ((structure.kind === 'struct' || structure.kind === 'map') && structure.isAtomic) ||
  (structure.kind === 'list' && structure.listType === 'atomic')

function sharedNodes(ordered: readonly StructField[]): (mask: number, isMember: boolean) => FieldSet {
  const known = new Map<number, FieldSet>()
  return (mask, isMember) => {
    const key = mask * 2 + (isMember ? 1 : 0)
    const found = known.get(key)
    if (found !== undefined) return found
    const fields = ordered.filter((_, index) => (mask & (1 << index)) !== 0)
    const elements = [...(isMember ? [self] : []), ...fields.map(({ element }) => element)]
    const node = Object.freeze(Object.fromEntries(elements.map((element) => [element, emptySet])))
    known.set(key, node)
    return node
  }
}

function differencesOf(ordered: readonly StructField[]): StructDifferences {
  const code = new Code()
  for (const field of ordered) {
    const [before, after] = [code.variable(), code.variable()]
    code.line(`const ${before} = old[${quoted(field.name)}], ${after} = next[${quoted(field.name)}]`)
    code.line(`if (${before} !== ${after}) differs(${code.constant(field)}, ${before}, ${after})`)
  }
  return code.compiled(['old', 'next', 'differs']) as StructDifferences
}
