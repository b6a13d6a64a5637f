// The types of schemas, which all of apiextensions shares.
export * from '../schema/json-schema-props.ts'
