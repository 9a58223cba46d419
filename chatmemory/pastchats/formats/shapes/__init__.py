"""The structures that several formats share: trees and lists of messages."""
