// readDefinitions: the CustomResourceDefinitions that a test passes to startCluster, as values or as files.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import {
  customResourceDefinition,
  type CustomResourceDefinitionInput,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { CustomResourceType } from '../../api/apiextensions/resource-type/custom-resource.ts'
import { errorText } from '../../base/observability/log.ts'
import { documentsIn, objectsIn } from '../manifests/manifest.ts'
import { parseJson } from '../../schema/json/exact-json.ts'

/**
 * A definition, a kind that customResource() made of one, or the path or `file:` URL of a YAML or JSON file with one or
 * several definitions, or of a folder of such files.
 */
export type DefinitionSource = CustomResourceDefinitionInput | CustomResourceType | string | FileUrl

/** A URL. The package's types do not depend on the platform's. */
export interface FileUrl {
  readonly href: string
}

export interface SourcedDefinition {
  readonly definition: CustomResourceDefinitionInput
  /** Where it comes from, for messages: `crds[0], widgets.yaml, document 2`. */
  readonly source: string
}

export async function readDefinitions(sources: readonly DefinitionSource[]): Promise<readonly SourcedDefinition[]> {
  const read = await Promise.all(sources.map((source, index) => definitionsOf(source, `crds[${index}]`)))
  const all = read.flat()
  for (const [index, { definition, source }] of all.entries()) {
    const name = nameOf(definition)
    const first = all.slice(0, index).find((each) => nameOf(each.definition) === name)
    if (first !== undefined) throw new Error(`${source}: ${name} is already defined by ${first.source}`)
  }
  return all
}

export const nameOf = ({ metadata }: CustomResourceDefinitionInput): string => metadata?.name ?? ''

async function definitionsOf(source: DefinitionSource, label: string): Promise<readonly SourcedDefinition[]> {
  if (typeof source === 'string') return definitionsAt(pathOf(source, label), label)
  if (typeof source !== 'object' || source === null)
    throw new Error(`${label} is ${inspect(source)}, not a definition or a file`)
  if ('href' in source) return definitionsAt(pathOf(source.href, label), label)
  return [checked('definition' in source ? source.definition : source, label)]
}

function pathOf(source: string, label: string): string {
  if (!/^[a-z]+:\/\//i.test(source)) return source
  const url = new URL(source)
  if (url.protocol === 'file:') return fileURLToPath(url)
  throw new Error(`${label}: ${url.href} is not a file; download it and pass its path`)
}

async function definitionsAt(path: string, label: string): Promise<readonly SourcedDefinition[]> {
  const isFolder = (await reading(label, path, () => stat(path))).isDirectory()
  if (!isFolder) return definitionsInFile(path, label)
  const names = (await reading(label, path, () => readdir(path))).filter((name) => /\.(ya?ml|json)$/.test(name))
  if (names.length === 0) throw new Error(`${label}, ${path} has no file that ends with .yaml, .yml or .json`)
  const files = names.toSorted().map((name) => definitionsInFile(join(path, name), label))
  return (await Promise.all(files)).flat()
}

async function definitionsInFile(path: string, label: string): Promise<readonly SourcedDefinition[]> {
  const text = await reading(label, path, () => readFile(path, 'utf8'))
  const file = `${label}, ${path}`
  const documents = await parsed(file, path, text)
  const found = documents.flatMap((value, index) => {
    if (value === null) return []
    const source = documents.length === 1 ? file : `${file}, document ${index + 1}`
    return located(source, () => [value].flat().flatMap(objectsIn)).map((object) => checked(object, source))
  })
  if (found.length === 0) throw new Error(`${file} has no CustomResourceDefinition`)
  return found
}

const parsed = async (file: string, path: string, text: string): Promise<readonly unknown[]> => {
  try {
    return path.endsWith('.json') ? [parseJson(text)] : await documentsIn(text)
  } catch (error) {
    throw new Error(`${file} cannot be parsed: ${errorText(error)}`, { cause: error })
  }
}

async function reading<T>(label: string, path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw new Error(`${label}: ${path} cannot be read: ${errorText(error)}`, { cause: error })
  }
}

function located<T>(source: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw new Error(`${source}: ${errorText(error)}`, { cause: error })
  }
}

/** The server checks the rest of a definition. */
function checked(object: unknown, source: string): SourcedDefinition {
  const { apiVersion, kind } = customResourceDefinition
  const given = object as CustomResourceDefinitionInput
  const type = `${given.apiVersion ?? apiVersion} ${given.kind ?? kind}`
  if (type !== `${apiVersion} ${kind}`) throw new Error(`${source} is of type ${type}, not ${apiVersion} ${kind}`)
  if (nameOf(given) === '') throw new Error(`${source}: metadata.name: Required value`)
  return { definition: given, source }
}
