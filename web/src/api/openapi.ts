// The types of documents of the API, which the TypeScript client has, too.
export type * from '../../../clients/typescript/src/openapi'
