// The syntax tree of a Go template.

/** What templates compute with: JSON, and undefined for what is missing. */
export type TemplateValue =
  | undefined
  | null
  | boolean
  | number
  | string
  | readonly TemplateValue[]
  | { readonly [key: string]: TemplateValue }

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Pipeline }
  | { readonly kind: 'if'; readonly pipeline: Pipeline; readonly body: Body; readonly otherwise: Body }
  | { readonly kind: 'with'; readonly pipeline: Pipeline; readonly body: Body; readonly otherwise: Body }
  | { readonly kind: 'range'; readonly pipeline: Pipeline; readonly body: Body; readonly otherwise: Body }
  | { readonly kind: 'template'; readonly name: string; readonly pipeline: Pipeline | undefined }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

export type Body = readonly TemplateNode[]

export interface Pipeline {
  /** The variables that it sets. */
  readonly variables: readonly string[]
  /** Whether the variables exist already: `=` in place of `:=`. */
  readonly isAssignment: boolean
  /** The value of each is the last argument of the next. */
  readonly commands: readonly Command[]
}

/** A value, or a function with its arguments. */
export type Command = readonly Operand[]

export type Operand =
  | { readonly kind: 'dot'; readonly fields: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly fields: readonly string[] }
  | { readonly kind: 'literal'; readonly value: TemplateValue }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly fields: readonly string[] }

/** The text of a template, parsed. */
export interface Template {
  readonly body: Body
  /** Those of `define` and `block`. */
  readonly defined: ReadonlyMap<string, Body>
}

export type TemplateFunction = (...args: readonly TemplateValue[]) => TemplateValue
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>

/** A template that cannot be parsed, or a step that fails. */
export class TemplateError extends Error {}
